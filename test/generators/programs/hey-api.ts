import { createClient as createAdminClient } from './admin/client/index.ts';
import { createKey } from './admin/index.ts';
import { createClient } from './api/client/index.ts';
import { createPet, type ListPetsErrors, listPets } from './api/index.ts';

const [url = '', adminUrl = '', plan = ''] = process.argv.slice(2);
const admin = createAdminClient({ baseUrl: adminUrl });
const created = await createKey({ client: admin, body: { plan, account: 'acme' } });
const client = createClient({ baseUrl: url, auth: created.data?.key ?? '' });

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

console.log(
  JSON.stringify({
    created: created.response?.status,
    read: [read.response?.status, length],
    added: [added.response?.status, name],
    refused: [refused.response?.status, rule],
    limited: [limited.response?.status, code],
  }),
);
