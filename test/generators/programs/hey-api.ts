import { createClient as createAdminClient } from './admin/client/index.ts';
import { createKey } from './admin/index.ts';
import { createClient } from './api/client/index.ts';
import {
  type CreatePetErrors,
  createPet,
  getUsage,
  type ListPetsErrors,
  listPets,
} from './api/index.ts';

const [url = '', adminUrl = '', plan = ''] = process.argv.slice(2);
const admin = createAdminClient({ baseUrl: adminUrl });
const created = await createKey({ client: admin, body: { plan, account: 'acme' } });
const client = createClient({ baseUrl: `${url}/v1`, auth: created.data?.key ?? '' });

const read = await listPets({ client, query: { limit: 1 } });
const length: number | undefined = read.data?.length;

const added = await createPet({ client, body: { name: 'Rex', categoryId: 1 } });
const name: string | undefined = added.data?.name;

// @ts-expect-error A pet needs a category.
const refused = await createPet({ client, body: { name: 'Rex' } });
const rule: string | undefined =
  refused.error && 'details' in refused.error ? refused.error.details?.[0]?.rule : undefined;

const limited = await listPets({ client });
const refusal: ListPetsErrors[429] | undefined =
  limited.error?.code === 'rate_limit_exceeded' ? limited.error : undefined;
const code: string | undefined = refusal?.code;

const usage = await getUsage({ client });
const ownPlan: string | undefined = usage.data?.plan;

const invalid = await getUsage({ client, query: { period: 'never' } });
const violated: string | undefined = invalid.error?.details?.[0]?.rule;

/** Statuses of the gateway, with the form of its errors. */
type Refused = CreatePetErrors[400 | 401 | 403 | 413 | 415 | 429 | 500 | 502 | 503 | 504];
export const pointerOf = ([first]: NonNullable<Refused['details']>): string | undefined =>
  first?.pointer;
// @ts-expect-error GET has no body to be too large.
export type TooLarge = ListPetsErrors[413];

console.log(
  JSON.stringify({
    usage: [usage.response?.status, ownPlan],
    invalid: [invalid.response?.status, violated],
    created: created.response?.status,
    read: [read.response?.status, length],
    added: [added.response?.status, name],
    refused: [refused.response?.status, rule],
    limited: [limited.response?.status, code],
  }),
);
