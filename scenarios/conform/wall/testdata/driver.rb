# A process of Sidekiq: ruby driver.rb SYSTEM work|put CONFIG. It speaks as driver.mjs does.
require "json"
require "sidekiq"

_, role, text = ARGV
CONFIG = JSON.parse(text)
$stdout.sync = true

def say(line) = $stdout.write(JSON.generate(line) + "\n")
def url(address) = "redis://#{address["host"]}:#{address["port"]}/#{address["db"]}"

class Job
  include Sidekiq::Worker

  def perform(job)
    number, now = Thread.current[:number], Time.now.to_f
    fails = job["fails"] && now >= job["fails"][0] && now < job["fails"][1]
    say({ kind: "began", job: job["id"], number: number })
    sleep job["takes"]
    say({ kind: "ended", job: job["id"], number: number, ok: !fails })
    raise "down" if fails
  end
end

# Numbered tells a job the number of its attempt.
class Numbered
  def call(_worker, job, _queue)
    Thread.current[:number] = job["retry_count"] ? job["retry_count"] + 2 : 1
    yield
  end
end

Redis.silence_deprecations = true
Sidekiq.logger = Logger.new($stderr, level: Logger::FATAL)
if role == "work"
  require "sidekiq/cli"
  Thread.new { $stdin.read; exit!(0) }
  Sidekiq.configure_server do |c|
    c.redis = { url: url(CONFIG["address"]) }
    c.server_middleware { |chain| chain.add Numbered }
    c.death_handlers << ->(job, _) { say({ kind: "died", job: job["args"][0]["id"] }) }
  end
  cli = Sidekiq::CLI.instance
  cli.parse(["-r", __FILE__, "-c", CONFIG["workers"].to_s, "-q", CONFIG["queue"], "-e", "production"])
  Sidekiq.logger.level = Logger::FATAL
  cli.run(boot_app: false)
else
  clients = {}
  $stdin.each_line do |line|
    message = JSON.parse(line)
    queue = message["queue"]
    begin
      if message["job"]
        clients[queue].push({ "class" => Job, "queue" => queue, "args" => [message["job"]] }.merge(message["options"] || {}))
      else
        clients[queue] = Sidekiq::Client.new(Sidekiq::RedisConnection.create(url: url(message["address"]), size: 1))
      end
      say({ kind: "done" })
    rescue => e
      say({ kind: "done", error: e.full_message })
    end
  end
end
