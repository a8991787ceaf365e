import { Agent } from 'node:http';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { backendUrl, CONNECTIONS, port } from './environment.ts';

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

express()
  .disable('x-powered-by')
  .use(createProxyMiddleware({ target: backendUrl, agent }))
  .listen(port, '127.0.0.1');
