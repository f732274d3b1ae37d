# One process of Signalbox: edge, console and payments; boards of this machine, if serve is given
# folders. docs/serve.md has the settings. No daemon builds it in the tests, so it is untried: its
# lines are linted, and those that run anywhere else are run.

FROM node:24-slim AS build
WORKDIR /build
COPY . .
RUN npm ci && npm run build:package

FROM node:24-slim
COPY --from=build /build/dist/signalbox.tgz /tmp/signalbox.tgz
RUN npm install --global /tmp/signalbox.tgz && rm /tmp/signalbox.tgz \
  && install --directory --owner node --group node --mode 700 /data /state /backups
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787 DATA_DIR=/data XDG_STATE_HOME=/state SIGNALBOX_LOG=json
USER node
VOLUME /data
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s \
  CMD node -e "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((it) => process.exit(it.ok ? 0 : 1), () => process.exit(1))"
ENTRYPOINT ["signalbox"]
CMD ["serve"]
