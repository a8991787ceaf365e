import { int64, integer, written } from '../checks.ts';
import { readFields, readQuery, required } from '../fields.ts';
import type { Route } from '../http/routes.ts';
import type { Inventory } from '../records/inventory.ts';
import { pageReply, paging } from './paging.ts';

const path = { petId: required(written(int64)) };
const inventoryUpdate = { quantity: required(integer(0n, 2147483647n)) };

export function inventoryRoutes(inventory: Inventory): readonly Route[] {
  return [
    {
      path: '/store/inventory',
      methods: {
        GET: (request) => pageReply(request, readQuery(request.query, paging), inventory.list, ({ petId }) => petId),
      },
    },
    {
      path: '/store/inventory/{petId}',
      methods: {
        GET: ({ params }) => ({ status: 200, body: inventory.get(readFields('path', params, path).petId) }),
        PUT: ({ params, body }) => {
          const { petId } = readFields('path', params, path);
          return { status: 200, body: inventory.set(petId, readFields('body', body, inventoryUpdate).quantity) };
        },
      },
    },
  ];
}
