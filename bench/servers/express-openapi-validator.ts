import express, { type NextFunction, type Request, type Response } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';

/** As its own instructions say, with the parsers of all types that the cases have, and one for cookies. */
const app = express();
app.use((request: Request, _response: Response, next: NextFunction) => {
  const pairs = (request.headers.cookie ?? '').split('; ').map((pair) => pair.split('='));
  request.cookies = Object.fromEntries(pairs.map(([name, value = '']) => [name, decodeURIComponent(value)]));
  next();
});
app.use(express.json({ type: ['application/json', 'application/*+json'], strict: false }));
app.use(express.text({ type: ['text/*', 'application/xml'] }));
app.use(express.urlencoded({ extended: true }));
app.use(express.raw({ type: ['application/octet-stream', 'image/*'] }));
app.use(OpenApiValidator.middleware({ apiSpec: process.env.CONTRACT!, validateSecurity: false }));
app.use((_request: Request, response: Response) => void response.json({}));
app.use((error: { status?: number }, _request: Request, response: Response, _next: NextFunction) => {
  response.status(error.status ?? 500).json({});
});
app.listen(Number(process.env.PORT), '127.0.0.1');
