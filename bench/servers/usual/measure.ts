import type { RequestHandler } from 'express';
import { Counter, Histogram } from 'prom-client';

const labelNames = ['method', 'path', 'status'];
const requests = new Counter({ name: 'requests_total', help: 'Requests answered.', labelNames });
const duration = new Histogram({
  name: 'request_duration_seconds',
  help: 'Time to the answer.',
  labelNames,
});

export const measure: RequestHandler = (request, response, next) => {
  const stop = duration.startTimer();
  response.on('finish', () => {
    const labels = {
      method: request.method,
      path: request.path,
      status: String(response.statusCode),
    };
    requests.inc(labels);
    stop(labels);
  });
  next();
};
