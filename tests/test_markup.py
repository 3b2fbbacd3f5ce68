"""What is not HTML is escaped wherever it becomes part of one."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from surefoot.markup import Html, html, joined

HOSTILE = ["<script>x</script>", '"><b>', "' onload='x", "&lt;b&gt;", "{0}{x!r}", "</td>"]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags, self.title, self.text = [], "", ""

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        self.title = dict(attrs).get("title", self.title)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE)
def test_a_reader_of_html_gets_the_text_back(text):
    for page in (
        html('<p title="{}">{}</p>', text, text),
        html('<p title="{a:>3}">{a!s}</p>', a=text),
        joined([html('<p title="{}">', text), text, Html("</p>")]),
    ):
        reader = _Reader()
        reader.feed(page)
        assert (reader.tags, reader.title, reader.text) == (["p"], text, text)


def test_numbers_have_formats_and_html_stays():
    assert html("{:.2f} {}", 1.234, html("<b>{}</b>", "&")) == "1.23 <b>&amp;</b>"
    assert joined(["<", Html("<i>")], "<br>") == "&lt;<br><i>"
