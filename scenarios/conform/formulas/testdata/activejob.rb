# Delays of the retries of jobs that always fail under retry_on, a list for each of ARGV[0] jobs: those with which
# ActiveJob enqueues them again. ARGV[1] is what `wait` is, if not its default.
require "active_job"
require "active_support/testing/time_helpers"
require "json"

include ActiveSupport::Testing::TimeHelpers
travel_to Time.at(0) # no time passes between a failure and the next enqueue

class Adapter
  def enqueue(job) = $next = [job.serialize, 0]
  def enqueue_at(job, at) = $next = [job.serialize, at - Time.now.to_f]
end

ActiveJob::Base.logger = Logger.new(nil)
ActiveJob::Base.queue_adapter = Adapter.new
ActiveJob::Base.retry_jitter = 0.15 # as config.load_defaults has it since Rails 6.1

class Doomed < ActiveJob::Base
  retry_on StandardError, **(ARGV[1] ? { wait: ARGV[1].to_sym } : {})
  def perform = raise("down")
end

all = Array.new(ARGV[0].to_i) do
  delays = []
  Doomed.perform_later
  while $next
    data, delay = $next
    $next = nil
    begin
      ActiveJob::Base.execute(data)
    rescue RuntimeError
      break # the attempts are used up
    end
    delays << $next[1].round(3) if $next
  end
  delays
end
puts all.to_json
