import createClient from 'openapi-fetch';
import type { paths as AdminPaths } from './admin.d.ts';
import type { paths } from './api.d.ts';

const [url = '', adminUrl = '', plan = ''] = process.argv.slice(2);
const admin = createClient<AdminPaths>({ baseUrl: adminUrl });
const created = await admin.POST('/keys', { body: { plan, account: 'acme' } });
const key = created.data?.key ?? '';
const api = createClient<paths>({ baseUrl: `${url}/v1`, headers: { 'X-API-Key': key } });

const read = await api.GET('/pets', { params: { query: { limit: 1 } } });
const length: number | undefined = read.data?.length;

const body = { name: 'Rex', categoryId: 1 };
const added = await api.POST('/pets', { body });
const name: string | undefined = added.data?.name;

// @ts-expect-error A pet needs a category.
const refused = await api.POST('/pets', { body: { name: 'Rex' } });
const rule: string | undefined =
  refused.error && 'details' in refused.error ? refused.error.details?.[0]?.rule : undefined;

const limited = await api.GET('/pets');
const refusal: paths['/pets']['get']['responses'][429]['content']['application/json'] | undefined =
  limited.error?.code === 'rate_limit_exceeded' ? limited.error : undefined;
const code: string | undefined = refusal?.code;

const usage = await api.GET('/usage');
const ownPlan: string | undefined = usage.data?.plan;

const invalid = await api.GET('/usage', { params: { query: { period: 'never' } } });
const violated: string | undefined = invalid.error?.details?.[0]?.rule;

type Answers = paths['/pets']['post']['responses'];
/** Statuses of the gateway, with the form of its errors. */
type Refused = Answers[400 | 401 | 403 | 413 | 415 | 429 | 500 | 502 | 503 | 504];
type Details = NonNullable<Refused['content']['application/json']['details']>;
export const pointerOf = ([first]: Details): string | undefined => first?.pointer;
// @ts-expect-error GET has no body to be too large.
export type TooLarge = paths['/pets']['get']['responses'][413];

console.log(
  JSON.stringify({
    usage: [usage.response.status, ownPlan],
    invalid: [invalid.response.status, violated],
    created: created.response.status,
    read: [read.response.status, length],
    added: [added.response.status, name],
    refused: [refused.response.status, rule],
    limited: [limited.response.status, code],
  }),
);
