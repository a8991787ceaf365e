# The image has Node itself; the development dependency `node` is for machines without the right one.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages ./packages
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    STOREGATE_DATA=/data \
    STOREGATE_CONFIG=/config/gateway.yaml \
    STOREGATE_PLANS=/config/plans.yaml \
    STOREGATE_ADMIN_HOST=127.0.0.1
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY config ./config
COPY packages ./packages
COPY src ./src
# `plans set` replaces the plans file and makes files beside it, so the folder is the user's too.
COPY plans.yaml config/gateway.yaml /config/
RUN mkdir /data && chown -R node:node /data /config
# Modules are compiled here, for each user in a part of the folder of its own. This one can only read its part from then on.
RUN install -d -o node node_modules/.cache/storegate \
  && export NODE_COMPILE_CACHE=node_modules/.cache/storegate \
  && as_node='setpriv --reuid=node --regid=node --clear-groups node --disable-warning=ExperimentalWarning' \
  && $as_node src/main.js check && $as_node -e "import('/app/src/cli/serve.ts')" \
  && chown -R root:root node_modules/.cache && chmod -R a+rX node_modules/.cache
# `node` by number: Kubernetes can see from a number alone that it is not root (`runAsNonRoot`).
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=2s --start-period=10s \
  CMD ["node", "-e", "const e=process.env,f=require('fs').readFileSync,c=e.STOREGATE_ADMIN_CLIENT_CERT;require(e.STOREGATE_ADMIN_TLS_CERT?'https':'http').get({host:'127.0.0.1',port:e.STOREGATE_ADMIN_PORT||9901,path:'/health/ready',rejectUnauthorized:false,...(c&&{cert:f(c),key:f(e.STOREGATE_ADMIN_CLIENT_KEY)})},(r)=>process.exit(r.statusCode===200?0:1)).on('error',()=>process.exit(1))"]
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "src/main.js"]
CMD ["serve", "--no-demo-keys"]
