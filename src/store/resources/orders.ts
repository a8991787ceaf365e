import { dateTime, flag, int64, integer, written } from '../checks.ts';
import { StoreError } from '../errors.ts';
import { optional, readFields, readQuery, required } from '../fields.ts';
import type { Route } from '../http/routes.ts';
import type { Orders } from '../records/orders.ts';
import { pageReply, paging } from './paging.ts';

const path = { orderId: required(written(int64)) };
const order = {
  id: optional(int64),
  petId: optional(int64),
  quantity: optional(integer(1n, 2147483647n)),
  shipDate: optional(dateTime),
  complete: optional(flag),
};

export function orderRoutes(orders: Orders): readonly Route[] {
  return [
    {
      path: '/store/orders',
      methods: {
        GET: (request) => pageReply(request, readQuery(request.query, paging), orders.list, ({ id }) => id),
        POST: ({ body }) => {
          const placed = orders.add(readFields('body', body, order));
          return { status: 201, headers: { Location: `/store/orders/${placed.id}` }, body: placed };
        },
      },
    },
    {
      path: '/store/orders/{orderId}',
      methods: {
        GET: ({ params }) => ({ status: 200, body: orders.get(readFields('path', params, path).orderId) }),
        PUT: ({ params, body }) => {
          const { orderId } = readFields('path', params, path);
          const fields = readFields('body', body, order);
          if (fields.id !== undefined && fields.id !== orderId)
            throw new StoreError('id_mismatch', `The body says order ${fields.id}, the path says order ${orderId}.`);
          return { status: 200, body: orders.update(orderId, fields) };
        },
      },
    },
  ];
}
