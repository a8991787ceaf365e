import { Agent } from 'node:http';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { backendUrl, port } from './environment.ts';

// As in the usual stack.
const agent = new Agent({ keepAlive: true });

express()
  .disable('x-powered-by')
  .use(createProxyMiddleware({ target: backendUrl, agent }))
  .listen(port, '127.0.0.1');
