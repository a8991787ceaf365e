import type { Json } from '@storegate/openapi';
import { ERROR_CODES } from '../../../common/errors/catalogue.ts';
import own from './gateway.openapi.json' with { type: 'json' };

export interface Refusals {
  readonly schemas: Readonly<Json>;
  readonly responses: Readonly<Json>;
  /** By status: references to `responses`. */
  readonly byStatus: Readonly<Record<string, Json>>;
  /** 503 of the gateway's own operation. */
  readonly unavailable: Json;
}

/** Components for refusals of the gateway. */
export function createRefusals(nameOf: (name: string) => string): Refusals {
  const errorName = nameOf('GatewayError');
  const schema = { $ref: `#/components/schemas/${errorName}` };
  const responses: Json = {};
  const byStatus: Record<string, Json> = {};
  for (const [status, refusal] of Object.entries(own.refusals)) {
    const { name, description, headers } = refusal;
    const free = nameOf(name);
    const examples = examplesOf(Number(status));
    responses[free] = {
      description,
      headers: { ...own.limits, ...headers },
      content: { 'application/json': { schema, examples } },
    };
    byStatus[status] = { $ref: `#/components/responses/${free}` };
  }
  const { description, headers } = own.unavailable;
  return {
    schemas: { [errorName]: own.error },
    responses,
    byStatus,
    unavailable: {
      description,
      headers: { ...own.limits, ...headers },
      content: { 'application/json': { schema } },
    },
  };
}

/** The page of errors has the advice, which depends on settings. */
function examplesOf(status: number): Json {
  const codes = ERROR_CODES.filter((entry) => entry.status === status);
  return Object.fromEntries(
    codes.map(({ code, title }) => [
      code,
      { value: { code, message: title, status } },
    ]),
  );
}
