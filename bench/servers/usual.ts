import { Agent } from 'node:http';
import express from 'express';
import { createProxyMiddleware, fixRequestBody } from 'http-proxy-middleware';
import morgan from 'morgan';
import { backendUrl, port } from './environment.ts';
import { authenticate } from './usual/authenticate.ts';
import { limit } from './usual/limit.ts';
import { measure } from './usual/measure.ts';
import { validate } from './usual/validate.ts';

// No bound: with fixRequestBody the stack leaks a connection for each client that disconnects
// during a POST, as at the end of a round, and a bound of 128 is soon exhausted.
const agent = new Agent({ keepAlive: true });

express()
  .disable('x-powered-by')
  .use(morgan('combined'))
  .use(measure)
  .use(authenticate)
  .use(limit)
  .use(express.json())
  .use(validate)
  .use(createProxyMiddleware({ target: backendUrl, agent, on: { proxyReq: fixRequestBody } }))
  .listen(port, '127.0.0.1');
