import { expect, test } from '@jest/globals';
import { contract } from './document.ts';

// The store checks none of this: no such request passes the gateway.

const operation = (id: string) => contract.operations.find((one) => one.id === id)!;

test.each([
  ['limit', ['0', '101', '-1', '1.5', 'ten', '', '01', '2&limit=3']],
  ['cursor', ['', '1&cursor=1', '1'.repeat(65)]],
  ['status', ['gone', '', 'SOLD', 'sold&status=sold']],
  ['categoryId', ['x', '', '1,2', '0x1', '1&categoryId=1', '9223372036854775808']],
  ['ids', ['', 'x', '1,,2', '1,', Array(101).fill(1).join(','), '1&ids=2', '9223372036854775808']],
])('the contract refuses an invalid %s in a query', (name, values) => {
  for (const value of values) {
    const faults = operation('listPets').checkParameters([], `${name}=${value}`, []);
    expect([value, faults]).toMatchObject([
      value,
      [{ in: 'query', pointer: expect.stringContaining(`/${name}`) }],
    ]);
  }
});

test.each(['x', '+1', '1.0', '1e3', '0x1', '%20', '1%2F2', '9223372036854775808'])(
  'the contract refuses the identifier %j in a path',
  (segment) => {
    expect(operation('replacePet').checkParameters([segment], '', [])).toMatchObject([
      { in: 'path', pointer: '/petId' },
    ]);
  },
);

test.each([
  ['createOrder', 'quantity', [0, -1, 1.5, 2147483648, '2', null]],
  ['createOrder', 'petId', ['1', 1.5, null, 1e30]],
  ['createOrder', 'id', ['1', {}]],
  ['createOrder', 'complete', ['true', 1, null]],
  ['createOrder', 'shipDate', ['tomorrow', '2026-12-01', '2026-02-30T00:00:00Z', 7]],
  ['createOrder', 'shipDate', ['2026-12-01T24:00:00Z', '2026-12-01T09:00:00']],
  ['setInventory', 'quantity', [-1, 1.5, 2147483648, '3', null, true]],
  ['createPet', 'name', ['', 7, null, 'x'.repeat(101)]],
  ['createPet', 'status', ['gone', '', null]],
  ['createCategory', 'description', [7, null, 'x'.repeat(1001)]],
])('the contract refuses in the body of %s an invalid %s', (id, field, values) => {
  const media = operation(id).body!.media('application/json')!;
  for (const value of values) {
    const body = { name: 'Rex', categoryId: 1, petId: 1, quantity: 1, [field]: value };
    const faults = media.check(new TextEncoder().encode(JSON.stringify(body)));
    const places = faults.map(({ in: place, pointer }) => place + pointer);
    expect([value, [...new Set(places)]]).toEqual([value, [`body/${field}`]]);
  }
});
