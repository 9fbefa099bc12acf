/** What a query of Prometheus reads, by Prometheus' own grammar. */
import { parser } from '@prometheus-io/lezer-promql';

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

export interface Query {
  readonly selectors: readonly Selector[];
  /** Labels that results are grouped or joined by. */
  readonly groupings: readonly string[];
}

/** @throws Error that shows what cannot be parsed. */
export function readQuery(text: string): Query {
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  const cut = (node: { readonly from: number; readonly to: number }) =>
    text.slice(node.from, node.to);
  parser.parse(text).iterate({
    enter: (reference) => {
      const { node } = reference;
      if (node.type.isError) {
        throw new Error(`This is no PromQL from character ${node.from} on: ${text}`);
      }
      if (node.name === 'GroupingLabels') groupings.push(...node.getChildren('LabelName').map(cut));
      if (node.name !== 'VectorSelector') return;
      const metric = node.getChild('Identifier');
      const all = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
      const matchers = all.map((matcher) => ({
        label: cut(matcher.getChild('LabelName')!),
        operator: cut(matcher.getChild('MatchOp')!),
        value: cut(matcher.getChild('StringLiteral')!).slice(1, -1),
      }));
      selectors.push({ metric: metric ? cut(metric) : '', matchers });
    },
  });
  return { selectors, groupings };
}
