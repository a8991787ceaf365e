import { parse } from '@babel/parser';

/** `lines` excludes the bodies of nested functions. */
export interface FunctionSize {
  readonly name: string;
  readonly lines: number;
}

interface Node {
  readonly type: string;
  readonly loc?: { readonly start: { readonly line: number }; readonly end: { readonly line: number } } | null;
  readonly id?: { readonly name?: string } | null;
  readonly key?: { readonly name?: string; readonly id?: { readonly name?: string } };
}

const FUNCTION =
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ObjectMethod|Class(Private)?Method)$/;

export function functionsIn(text: string): FunctionSize[] {
  const found: FunctionSize[] = [];
  const ast = parse(text, { sourceType: 'module', plugins: ['typescript'] });
  visit(ast.program as unknown as Node, '', found);
  return found;
}

function visit(node: Node, outer: string, found: FunctionSize[]): number {
  const name = node.id?.name ?? node.key?.name ?? node.key?.id?.name ?? outer;
  let inner = 0;
  for (const child of childrenOf(node)) inner += visit(child, name, found);
  if (!FUNCTION.test(node.type) || !node.loc) return inner;
  const beyondFirst = node.loc.end.line - node.loc.start.line;
  found.push({ name: name || 'without a name', lines: beyondFirst + 1 - inner });
  return beyondFirst;
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof (value as Node | null)?.type === 'string');
}
