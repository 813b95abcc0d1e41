# Delays of the first five retries of ARGV[0] jobs, as Sidekiq draws them, a list for each job.
require "sidekiq"
require "sidekiq/job_retry"
require "json"

retries = Sidekiq::JobRetry.allocate
all = Array.new(ARGV[0].to_i) do
  Array.new(5) { |count| retries.send(:delay_for, nil, count, RuntimeError.new) }
end
puts all.to_json
