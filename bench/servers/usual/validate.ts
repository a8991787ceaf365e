import { Ajv } from 'ajv';
import type { RequestHandler } from 'express';

const ajv = new Ajv({ coerceTypes: 'array', allErrors: false });
const status = { enum: ['available', 'pending', 'sold'] };

const isQuery = ajv.compile({
  type: 'object',
  additionalProperties: false,
  properties: {
    status,
    categoryId: { type: 'integer' },
    ids: { type: 'array', maxItems: 100, items: { type: 'integer' } },
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    cursor: { type: 'string', maxLength: 200 },
  },
});

const isNewPet = ajv.compile({
  type: 'object',
  required: ['name', 'categoryId'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 100 },
    categoryId: { type: 'integer' },
    status,
  },
});

export const validate: RequestHandler = (request, response, next) => {
  const check = request.method === 'POST' ? isNewPet : isQuery;
  if (check(request.method === 'POST' ? request.body : { ...request.query })) {
    next();
    return;
  }
  response
    .status(400)
    .json({ code: 'bad_request', message: ajv.errorsText(check.errors), status: 400 });
};
