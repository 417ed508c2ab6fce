/** A JSON object of the document: schemas, parameters, responses. */
export type Json = Readonly<Record<string, unknown>>;

/** A reference to a component of the document. */
export function ref(section: 'schemas' | 'parameters' | 'headers' | 'responses', name: string): Json {
  return { $ref: `#/components/${section}/${name}` };
}

/** Objects by name, built from pairs; a name that comes twice stands for the same thing. */
export function byName<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  return Object.fromEntries(entries);
}
