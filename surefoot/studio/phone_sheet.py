"""`with_phone_sheet`: viser's panel on a phone as a sheet at the bottom that starts closed and never covers the scene.

viser puts its panel over the lower right of a narrow window, open; it has no setting for that. What is here goes into
the page that it serves. On wide windows nothing changes.
"""

from __future__ import annotations

__all__ = ["with_phone_sheet"]

_SHEET = 'div[style*="position: fixed"][style*="max-height: 60%"]'
_HANDLE = 'div[style*="cursor: pointer"][style*="height: 3.5em"]'

_STYLE = f"""
{_SHEET} {{ left: 0 !important; right: 0 !important; width: auto !important; max-height: 56% !important; }}
{_SHEET} div[style="width: 20em;"] {{ width: 100% !important; }}
{_SHEET} .mantine-ScrollArea-content {{ min-width: 0 !important; display: block !important; }}
{_SHEET} {_HANDLE} {{ position: sticky !important; top: 0; z-index: 20; background: #fff; touch-action: manipulation;
  box-shadow: 0 1px 0 rgba(0, 0, 0, .1); }}
{_HANDLE}:focus-visible {{ outline: 2px solid #206abe; outline-offset: -3px; }}
{_HANDLE}::after {{ content: ""; flex: none; width: .55em; height: .55em; margin: .25em .5em 0 .9em;
  border: solid #495057; border-width: 2px 0 0 2px; transform: rotate(45deg); }}
{_HANDLE}[aria-expanded=true]::after {{ margin-top: -.25em; transform: rotate(225deg); }}
{_HANDLE}[aria-expanded=false]::before {{ content: "Controls"; order: 1; margin-left: auto; color: #206abe;
  font-weight: 500; }}
{_HANDLE}::after {{ order: 2; }}
"""

_SCRIPT = f"""
(() => {{
  let sheet = null, room = null;
  const open = handle => handle.parentElement.offsetHeight > 1.5 * handle.offsetHeight;
  const fit = handle => {{
    handle.setAttribute('aria-expanded', open(handle));
    if (room) room.style.height = `calc(100% - ${{sheet.offsetHeight}}px)`;
  }};
  const take = handle => {{
    const facts = {{ role: 'button', tabindex: '0', 'aria-label': 'controls' }};
    for (const [name, value] of Object.entries(facts)) handle.setAttribute(name, value);
    handle.addEventListener('keydown', event => {{
      if (event.target !== handle || (event.key !== 'Enter' && event.key !== ' ')) return;
      event.preventDefault();
      handle.click();
    }});
    room = [...sheet.parentElement.children].find(child => child !== sheet && child.querySelector('canvas'));
    new ResizeObserver(() => fit(handle)).observe(sheet);
    handle.click();  // it starts closed
  }};
  new MutationObserver(() => {{
    const found = document.querySelector('{_SHEET}'), handle = found && found.querySelector('{_HANDLE}');
    if (handle && !document.querySelector('canvas')) return;  // the scene comes later
    if ((handle ? found : null) === sheet) return;
    if (room) room.style.height = '100%';
    sheet = handle ? found : null;
    if (sheet) take(handle);
  }}).observe(document, {{ childList: true, subtree: true }});
}})();
"""


def with_phone_sheet(page: bytes) -> bytes:
    """The page of viser with the sheet for phones.

    Args:
        page: HTML.
    """
    extra = f"<style>{_STYLE}</style><script>{_SCRIPT}</script></head>".encode()
    return page.replace(b"</head>", extra, 1)
