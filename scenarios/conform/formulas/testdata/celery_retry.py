"""Delays of the retries of tasks that always fail, a list for each of argv[1] tasks: the countdown with which Celery
sends them again. With a second argument, under autoretry_for and retry_backoff."""
import json
import sys

from celery import Celery

app = Celery("doomed", broker="memory://")
sent = []


class Recorded(app.Task):
    def apply_async(self, args=None, kwargs=None, **options):
        sent.append(options)


def fail(self):
    raise self.retry() if len(sys.argv) < 3 else RuntimeError("down")


options = dict(bind=True, base=Recorded, name="fail")
if len(sys.argv) > 2:
    options.update(autoretry_for=(RuntimeError,), retry_backoff=True)
task = app.task(**options)(fail)
app.finalize()

everything = []
for _ in range(int(sys.argv[1])):
    delays, retries = [], 0
    while True:
        del sent[:]
        task.push_request(retries=retries, called_directly=False, id="1", args=(), kwargs={}, delivery_info={})
        try:
            task.run()
        except Exception:
            pass
        finally:
            task.pop_request()
        if not sent:
            break
        retries = sent[0]["retries"]
        delays.append(float(sent[0]["countdown"]))
    everything.append(delays)
print(json.dumps(everything))
