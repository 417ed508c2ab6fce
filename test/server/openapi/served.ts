import type { FastifyInstance } from 'fastify';
import type { TestService } from '../../support/service.ts';

/** An OpenAPI document as tests read it: anything below its first level is looked up by name. */
export interface Described {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, DescribedSchema>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly description: string } | { readonly $ref: string }>>;
  readonly security: readonly unknown[];
}

interface DescribedParameter {
  readonly name?: string;
  readonly $ref?: string;
  readonly required?: boolean;
  readonly deprecated?: boolean;
  readonly description?: string;
  readonly example?: string;
  readonly schema?: Readonly<Record<string, unknown>>;
}

export interface DescribedSchema {
  readonly type: string;
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

/** The document as it is served. */
export async function servedDocument({ app }: Pick<TestService, 'app'>): Promise<Described> {
  const response = await app.inject('/openapi.json');
  return JSON.parse(response.body) as Described;
}

/** Every `METHOD /path` of a document, parameters as `{}`. */
export function describedRoutes({ paths }: Described): string[] {
  return Object.entries(paths)
    .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${unnamed(path)}`))
    .sort();
}

/** Every `METHOD /path` that an app serves, parameters as `{}`; HEAD comes with each GET and is left out. */
export function servedRoutes(app: FastifyInstance): string[] {
  const parents: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S*) \(([A-Z, ]+)\)$/.exec(line) ?? [];
      if (methods === '') return [];
      const depth = indent.length / 4;
      const path = (parents[depth - 1] ?? '') + part;
      parents[depth] = path;
      return methods
        .split(', ')
        .filter((method) => method !== 'HEAD')
        .map((method) => `${method} ${unnamed(path)}`);
    })
    .sort();
}

function unnamed(path: string): string {
  return path.replace(/:\w+|\{\w+\}/g, '{}');
}
