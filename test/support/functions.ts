import { parse } from '@babel/parser';
import { tokensIn } from '../../scripts/tokens.ts';

/** `tokens` excludes nested functions. */
export interface FunctionSize {
  readonly name: string;
  readonly tokens: number;
}

interface Node {
  readonly type: string;
  readonly start?: number | null;
  readonly end?: number | null;
  readonly id?: { readonly name?: string } | null;
  readonly key?: { readonly name?: string; readonly id?: { readonly name?: string } };
}

const FUNCTION =
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ObjectMethod|Class(Private)?Method)$/;

export function functionsIn(text: string): FunctionSize[] {
  const found: FunctionSize[] = [];
  const ast = parse(text, { sourceType: 'module', plugins: ['typescript'] });
  visit(text, ast.program as unknown as Node, '', found);
  return found;
}

function visit(text: string, node: Node, outer: string, found: FunctionSize[]): number {
  const name = node.id?.name ?? node.key?.name ?? node.key?.id?.name ?? outer;
  let inner = 0;
  for (const child of childrenOf(node)) inner += visit(text, child, name, found);
  if (!FUNCTION.test(node.type)) return inner;
  const all = tokensIn(text.slice(node.start!, node.end!));
  found.push({ name: name || 'without a name', tokens: all - inner });
  return all;
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof (value as Node | null)?.type === 'string');
}
