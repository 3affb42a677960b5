# The service alone; it needs a PostgreSQL, named by JEJAK_DATABASE_URL.
FROM swift:6.3-bookworm AS builder
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libpq-dev libsodium-dev libmicrohttpd-dev libjansson-dev libidn2-dev libunistring-dev \
      pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
COPY db db
RUN swift build -c release --product jejak --static-swift-stdlib

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates libpq5 libsodium23 libmicrohttpd12 libjansson4 libidn2-0 libunistring2 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --user-group --home-dir /nonexistent --shell /usr/sbin/nologin jejak \
 && install -d -o jejak -g jejak -m 0700 /var/lib/jejak /var/lib/jejak-outside
COPY --from=builder /src/.build/release/jejak /usr/local/bin/jejak
COPY --chmod=755 deploy/healthcheck /usr/local/bin/jejak-healthcheck
USER 10001:10001
ENV JEJAK_LISTEN=0.0.0.0:8080
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD ["jejak-healthcheck"]
ENTRYPOINT ["jejak"]
CMD ["serve"]
