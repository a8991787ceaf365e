import { commaSeparated, int64, oneOf, text, written } from '../checks.ts';
import { optional, readFields, readQuery, required } from '../fields.ts';
import type { Route } from '../http/routes.ts';
import { type Pets, petStatuses } from '../records/pets.ts';
import { pageReply, paging } from './paging.ts';

const status = oneOf(...petStatuses);
const path = { petId: required(written(int64)) };
const newPet = { name: required(text(1, 100)), categoryId: required(int64), status: optional(status) };
const listQuery = {
  ...paging,
  status: optional(status),
  categoryId: optional(written(int64)),
  ids: optional(commaSeparated(100, written(int64))),
};

export function petRoutes(pets: Pets): readonly Route[] {
  return [
    {
      path: '/pets',
      methods: {
        GET: (request) => {
          const query = readQuery(request.query, listQuery);
          return pageReply(
            request,
            query,
            (page) => pets.list(page, query),
            ({ id }) => id,
          );
        },
        POST: ({ body }) => {
          const pet = pets.add(readFields('body', body, newPet));
          return { status: 201, headers: { Location: `/pets/${pet.id}` }, body: pet };
        },
      },
    },
    {
      path: '/pets/{petId}',
      methods: {
        GET: ({ params }) => ({ status: 200, body: pets.get(readFields('path', params, path).petId) }),
        PUT: ({ params, body }) => {
          const { petId } = readFields('path', params, path);
          return { status: 200, body: pets.replace(petId, readFields('body', body, newPet)) };
        },
        DELETE: ({ params }) => {
          pets.remove(readFields('path', params, path).petId);
          return { status: 204 };
        },
      },
    },
  ];
}
