# syntax=docker/dockerfile:1

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# WITH_POSTGRES=no leaves out the Postgres that is started when DATABASE_URL is unset: DATABASE_URL is then required.
ARG WITH_POSTGRES=yes
RUN if [ "$WITH_POSTGRES" = no ]; then without=--omit=optional; fi; \
    npm ci --omit=dev $without --no-audit --no-fund

FROM node:24-slim
LABEL org.opencontainers.image.title="leadsync" \
      org.opencontainers.image.description="Keeps sales leads in step between the Lead Management Service and a spreadsheet" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"
COPY --from=dependencies /app/node_modules /app/node_modules
COPY package.json leadsync.example.yaml leadsync.schema.json /app/
COPY bin /app/bin
COPY src /app/src
COPY jobs /app/jobs
# State, the outbox, and by default leadsync.yaml and the files to keep in step: relative paths mean this folder.
RUN mkdir /data && chown 1000:1000 /data
WORKDIR /data
VOLUME /data
# HOST: probes come from outside of the container. Nothing but /healthz and /readyz is served.
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 PORT=3000
EXPOSE 3000
# The user "node" of the image, by number for runAsNonRoot. The bundled Postgres needs a user with a name.
USER 1000:1000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/leadsync.js"]
CMD ["worker"]
