-- The people that bench/seed.sql made; the environment says how many.
users = tonumber(os.getenv("BENCH_USERS"))

function init(arguments)
  math.randomseed(os.time())
end

function token(n)
  return string.format("jjs_AAAAAAAAAAAAAAAAAAAAAAAAA1%017d", n)
end
