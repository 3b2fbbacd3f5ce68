import json

from surefoot.benchmarks.predictive import PredictiveBench, run_predictive


def test_result_is_plain_data_with_times_and_peaks():
    told = []
    result = run_predictive(PredictiveBench(("arm4",), repeats=1, progress=lambda share, text: told.append(text)))
    study = json.loads(json.dumps(result))["studies"]["arm4"]
    assert told == ["arm4"]
    assert set(study["peaks"]) == {"unaware", "local", "predictive 1.0 s", "global"}
    times = study["times"]["1.0 s"]
    assert times["prediction_steps"] == 100
    assert times["cycle"]["passes"] == 200
    assert isinstance(times["step_of_descent_us"], float)
