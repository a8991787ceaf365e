import createClient from 'openapi-fetch';
import type { paths as AdminPaths } from './admin.d.ts';
import type { paths } from './api.d.ts';

const [url = '', adminUrl = '', plan = ''] = process.argv.slice(2);
const admin = createClient<AdminPaths>({ baseUrl: adminUrl });
const created = await admin.POST('/keys', { body: { plan, account: 'acme' } });
const key = created.data?.key ?? '';
const api = createClient<paths>({ baseUrl: url, headers: { 'X-API-Key': key } });

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

console.log(
  JSON.stringify({
    created: created.response.status,
    read: [read.response.status, length],
    added: [added.response.status, name],
    refused: [refused.response.status, rule],
    limited: [limited.response.status, code],
  }),
);
