export { type Published, writeDocuments } from './documents.ts';
export { createOperatorsReference } from './operators.ts';
export { createReference, createReferences } from './reference.ts';
