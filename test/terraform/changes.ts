/** What a plan would do, out of `terraform show -json`. */
import { isDeepStrictEqual } from 'node:util';
import type { StateResource } from './house-rules.ts';
import type { Project } from './project.ts';

/** https://developer.hashicorp.com/terraform/internals/json-format, as far as it is used here. */
interface PlanDocument {
  readonly resource_changes?: readonly ResourceChange[];
  readonly output_changes?: Readonly<Record<string, { readonly after: unknown }>>;
}
interface ResourceChange {
  readonly address: string;
  readonly mode: 'managed' | 'data';
  readonly change: {
    readonly actions: readonly string[];
    readonly before: Readonly<Record<string, unknown>> | null;
    readonly after: Readonly<Record<string, unknown>> | null;
    readonly after_unknown: Readonly<Record<string, unknown>>;
  };
}

export interface Changes {
  readonly created: readonly string[];
  /** Addresses of what changes in place, each with its changed attributes: `ADDRESS: a, b`. */
  readonly updated: readonly string[];
  readonly replaced: readonly string[];
  readonly destroyed: readonly string[];
}

/** Plans into a file, which `apply` takes. */
export async function planChanges(project: Project): Promise<Changes> {
  await project.mustRun('plan', '-out=plan.tfplan', '-refresh=false');
  return changesOf(JSON.parse(await project.mustRun('show', '-json', 'plan.tfplan')));
}

export async function applyPlan(project: Project): Promise<void> {
  await project.mustRun('apply', 'plan.tfplan');
}

interface StateModule {
  readonly resources?: readonly (StateResource & { readonly mode: 'managed' | 'data' })[];
  readonly child_modules?: readonly StateModule[];
}

/** What the state has, data sources aside. */
export async function resourcesIn(project: Project): Promise<StateResource[]> {
  const state: { values: { root_module: StateModule } } = JSON.parse(
    await project.mustRun('show', '-json'),
  );
  return resourcesOf(state.values.root_module);
}

function resourcesOf({ resources = [], child_modules = [] }: StateModule): StateResource[] {
  return [
    ...resources.filter(({ mode }) => mode === 'managed'),
    ...child_modules.flatMap(resourcesOf),
  ];
}

function changesOf({ resource_changes = [] }: PlanDocument): Changes {
  const of = (...actions: string[]) =>
    resource_changes.filter(
      ({ mode, change }) => mode === 'managed' && isDeepStrictEqual(change.actions, actions),
    );
  return {
    created: addresses(of('create')),
    updated: of('update').map(
      ({ address, change }) => `${address}: ${changedAttributes(change).join(', ')}`,
    ),
    replaced: addresses([...of('delete', 'create'), ...of('create', 'delete')]),
    destroyed: addresses(of('delete')),
  };
}

function addresses(found: readonly ResourceChange[]): string[] {
  return found.map(({ address }) => address);
}

function changedAttributes({ before, after, after_unknown }: ResourceChange['change']): string[] {
  const names = new Set([...Object.keys(after ?? {}), ...Object.keys(after_unknown)]);
  return [...names]
    .filter(
      (name) => !isDeepStrictEqual(before?.[name], after?.[name]) || after_unknown[name] === true,
    )
    .toSorted();
}
