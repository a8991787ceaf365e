import { stringify } from 'yaml';

/** Few operations of the shipped contract: each reload reads the contract in a process. */
const OPERATIONS = [
  { path: '/pets', id: 'listPets', tag: 'Animals' },
  { path: '/pets/{petId}', id: 'getPet', tag: 'Animals' },
  { path: '/categories', id: 'listCategories', tag: 'Categories' },
  { path: '/store/orders', id: 'listOrders', tag: 'Orders' },
];

type Limits = Readonly<Record<string, unknown>>;

/** Limits are `x-ratelimit` of these operations and tags. */
export function contractWith({
  operations = {},
  tags = {},
}: {
  readonly operations?: Limits;
  readonly tags?: Limits;
}) {
  const limitOf = (limits: Limits, name: string) =>
    Object.hasOwn(limits, name) ? { 'x-ratelimit': limits[name] } : {};
  const petId = { name: 'petId', in: 'path', required: true, schema: { type: 'integer' } };
  const paths = OPERATIONS.map(({ path, id, tag }) => {
    const parameters = path.includes('{petId}') ? [petId] : [];
    const responses = { default: { description: 'Whatever the backend answers.' } };
    return [
      path,
      { get: { operationId: id, tags: [tag], parameters, responses, ...limitOf(operations, id) } },
    ];
  });
  return stringify({
    openapi: '3.0.3',
    info: { title: 'Limits', version: '1' },
    tags: [...new Set(OPERATIONS.map(({ tag }) => tag))].map((name) => ({
      name,
      ...limitOf(tags, name),
    })),
    paths: Object.fromEntries(paths),
  });
}
