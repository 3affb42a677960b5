dofile(os.getenv("BENCH_WRK") .. "/common.lua")

function request()
  return wrk.format("POST", "/v1/sessions", { ["Content-Type"] = "application/json" },
    string.format('{"email":"person%d@example.com","password":"%s"}',
      math.random(users), os.getenv("BENCH_PASSWORD")))
end
