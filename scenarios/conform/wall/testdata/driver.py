"""A process of Celery or of a consumer of RabbitMQ: driver.py SYSTEM work|put CONFIG. It speaks as driver.mjs does."""
import json
import os
import sys
import threading
import time

system, role, config = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
speaking, out = threading.Lock(), sys.stdout


def say(**line):
    with speaking:
        out.write(json.dumps(line) + "\n")
        out.flush()


def began(job, number):
    """Says that an attempt begins, and returns whether it will fail."""
    fails = "fails" in job and job["fails"][0] <= time.time() < job["fails"][1]
    say(kind="began", job=job["id"], number=number)
    return fails


def celery(of):
    from celery import Celery
    from celery.exceptions import MaxRetriesExceededError

    options, address = of.get("options") or {}, of["address"]
    app = Celery("driver", broker="redis://%s:%d/%d" % (address["host"], address["port"], address["db"]), set_as_current=role == "work")
    app.conf.update(task_ignore_result=True, task_default_queue=of["queue"], worker_redirect_stdouts=False,
                    broker_transport_options=options.get("transport", {}))
    if role == "put":
        return lambda job, _: app.send_task("job", args=[job], queue=of["queue"])

    @app.task(bind=True, name="job")
    def perform(self, job):
        number = self.request.retries + 1
        fails = began(job, number)
        time.sleep(job["takes"])
        say(kind="ended", job=job["id"], number=number, ok=not fails)
        if fails:
            try:
                self.retry(**options.get("retry", {}))
            except MaxRetriesExceededError:
                say(kind="died", job=job["id"])
                raise

    app.worker_main(["worker", "--pool=threads", "--concurrency=%d" % of["workers"], "--queues=" + of["queue"],
                     "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=CRITICAL"])


def rabbitmq(of):
    import pika

    limit = (of.get("options") or {}).get("limit", 20)
    beat = 0 if role == "put" else None  # between two jobs it reads nothing
    connection = pika.BlockingConnection(pika.ConnectionParameters(of["address"]["host"], of["address"]["port"], heartbeat=beat))
    channel = connection.channel()
    channel.queue_declare(of["queue"], durable=True, arguments={"x-queue-type": "quorum", "x-delivery-limit": limit})
    if role == "put":
        return lambda job, _: channel.basic_publish("", of["queue"], json.dumps(job))

    def deliver(channel, method, properties, body):
        job, number = json.loads(body), int((properties.headers or {}).get("x-delivery-count", 0)) + 1
        fails = began(job, number)

        def done():
            say(kind="ended", job=job["id"], number=number, ok=not fails)
            if not fails:
                channel.basic_ack(method.delivery_tag)
                return
            if number > limit:
                say(kind="died", job=job["id"])
            channel.basic_nack(method.delivery_tag, requeue=True)
        connection.call_later(job["takes"], done)

    channel.basic_qos(prefetch_count=of["workers"])
    channel.basic_consume(of["queue"], deliver)
    channel.start_consuming()


def end():
    """Ends the process when its standard input ends."""
    sys.stdin.read()
    os._exit(0)


start = {"celery": celery, "rabbitmq-qq": rabbitmq}[system]
if role == "work":
    threading.Thread(target=end, daemon=True).start()
    start(config)
else:
    queues = {}
    for text in sys.stdin:
        message = json.loads(text)
        try:
            if "job" in message:
                queues[message["queue"]](message["job"], message.get("options"))
            else:
                queues[message["queue"]] = start(message)
            say(kind="done")
        except Exception as e:
            say(kind="done", error=repr(e))
