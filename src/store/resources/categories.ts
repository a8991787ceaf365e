import { int64, text, written } from '../checks.ts';
import { optional, readFields, readQuery, required } from '../fields.ts';
import type { Route } from '../http/routes.ts';
import type { Categories } from '../records/categories.ts';
import { pageReply, paging } from './paging.ts';

const path = { categoryId: required(written(int64)) };
const newCategory = { name: required(text(1, 100)), description: optional(text(0, 1000)) };

export function categoryRoutes(categories: Categories): readonly Route[] {
  return [
    {
      path: '/categories',
      methods: {
        GET: (request) => pageReply(request, readQuery(request.query, paging), categories.list, ({ id }) => id),
        POST: ({ body }) => {
          const category = categories.add(readFields('body', body, newCategory));
          return { status: 201, headers: { Location: `/categories/${category.id}` }, body: category };
        },
      },
    },
    {
      path: '/categories/{categoryId}',
      methods: {
        GET: ({ params }) => ({ status: 200, body: categories.get(readFields('path', params, path).categoryId) }),
        PUT: ({ params, body }) => {
          const { categoryId } = readFields('path', params, path);
          return { status: 200, body: categories.replace(categoryId, readFields('body', body, newCategory)) };
        },
        DELETE: ({ params }) => {
          categories.remove(readFields('path', params, path).categoryId);
          return { status: 204 };
        },
      },
    },
  ];
}
