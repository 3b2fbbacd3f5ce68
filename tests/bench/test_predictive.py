import json

from bench.cases import predictive
from bench.timing import listen


def test_result_is_plain_data_with_times_and_peaks():
    told = []
    with listen(lambda share, text: told.append(text)):
        result = predictive.run("arm4", quick=True)
    study = json.loads(json.dumps(result))["studies"]["arm4"]
    assert told == ["arm4"]
    assert set(study["peaks"]) == {"unaware", "local", "predictive 1.0 s", "global"}
    times = study["times"]["1.0 s"]
    assert times["prediction_steps"] == 100
    assert times["cycle"]["passes"] == 200
    assert isinstance(times["step_of_descent_us"], float)
