# The image has Node itself; the development dependency `node` is for machines without the right one.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
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
COPY src ./src
# `plans put` replaces the plans file and makes files beside it, so the folder is the user's too.
COPY plans.yaml config/gateway.yaml /config/
RUN mkdir /data && chown -R node:node /data /config
# The first command keeps modules compiled, in a folder that the user can only read.
RUN node --disable-warning=ExperimentalWarning src/main.ts check
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=2s --start-period=10s \
  CMD ["node", "-e", "const e=process.env,f=require('fs').readFileSync,c=e.STOREGATE_ADMIN_CLIENT_CERT;require(e.STOREGATE_ADMIN_TLS_CERT?'https':'http').get({host:'127.0.0.1',port:e.STOREGATE_ADMIN_PORT||9901,path:'/health/ready',rejectUnauthorized:false,...(c&&{cert:f(c),key:f(e.STOREGATE_ADMIN_CLIENT_KEY)})},(r)=>process.exit(r.statusCode===200?0:1)).on('error',()=>process.exit(1))"]
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "src/main.ts"]
CMD ["serve", "--no-demo-keys"]
