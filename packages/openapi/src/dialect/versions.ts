import type { Json } from '../document/source.ts';
import type { Dialect } from './dialect.ts';
import { OPENAPI_30 } from './openapi-3.0.ts';
import { OPENAPI_31, OPENAPI_32 } from './openapi-3.1.ts';

const DIALECTS: readonly (readonly [version: RegExp, dialect: Dialect])[] = [
  [/^3\.0\.\d+(?:-.+)?$/, OPENAPI_30],
  [/^3\.1\.\d+(?:-.+)?$/, OPENAPI_31],
  [/^3\.2\.\d+(?:-.+)?$/, OPENAPI_32],
];

export function dialectOf({ openapi }: Json): Dialect | null {
  if (typeof openapi !== 'string') return null;
  return DIALECTS.find(([version]) => version.test(openapi))?.[1] ?? null;
}

export function versionComplaint({ openapi, swagger }: Json): string {
  const found = openapi ?? swagger;
  if (found === undefined) return 'must be an OpenAPI 3.0, 3.1 or 3.2 document, but has no field openapi';
  if (swagger === undefined) return `must be OpenAPI 3.0, 3.1 or 3.2, such as 3.1.0, not ${String(found)}`;
  return `must be OpenAPI 3.0, 3.1 or 3.2, not Swagger ${String(found)}: npx swagger2openapi FILE -o openapi.yaml converts it`;
}
