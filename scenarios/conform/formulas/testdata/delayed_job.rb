# Delays of the retries of jobs that always fail, a list for each of ARGV[0] jobs: those with which a worker of
# delayed_job reschedules them.
require "delayed_job"
require "json"

class Job
  include Delayed::Backend::Base
  attr_accessor :attempts, :run_at, :id, :name, :queue, :failed
  def self.db_time_now = NOW
  def payload_object = PAYLOAD
  def save! = nil
  def unlock = nil
  def hook(*) = nil
  def destroy_failed_jobs? = false
  def fail! = self.failed = true
end

NOW = Time.at(0)
PAYLOAD = Object.new # has no rules of its own
Delayed::Worker.logger = Logger.new(nil)
worker = Delayed::Worker.new(quiet: true)
all = Array.new(ARGV[0].to_i) do
  job, delays = Job.new, []
  job.attempts = 0
  until job.failed
    worker.reschedule(job)
    delays << (job.run_at - NOW).round(3) unless job.failed
  end
  delays
end
puts all.to_json
