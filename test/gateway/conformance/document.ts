import { bodies } from './cases/bodies.ts';
import { keywords } from './cases/keywords.ts';
import { parameters } from './cases/parameters.ts';
import type { Case, Json } from './subject.ts';

const subjects = [...parameters, ...keywords, ...bodies];

export const cases: readonly Case[] = subjects.flatMap((subject) => subject.cases);

export const document: Json = {
  openapi: '3.0.3',
  info: { title: 'Cases that a specification decides', version: '1' },
  paths: Object.assign({}, ...subjects.map(({ paths }) => paths)),
  components: { schemas: Object.assign({}, ...subjects.map(({ schemas }) => schemas ?? {})) },
};
