import type { FastifyInstance } from 'fastify';

/** The routes of an app, as they are mounted: what a path can be asked with, when it was asked with something else. */
export class Routes {
  private readonly methods = new Map<string, Set<string>>();

  /** Sees the routes that are mounted from now on. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      const known = this.methods.get(url) ?? new Set();
      // HEAD comes with GET.
      for (const one of [method].flat()) if (one !== 'HEAD') known.add(one);
      this.methods.set(url, known);
    });
  }

  /** Methods of the routes a path belongs to, none for an unknown path. */
  methodsAt(path: string): string[] {
    const segments = path.split('/');
    const found = [...this.methods].filter(([url]) => {
      const pattern = url.split('/');
      return (
        pattern.length === segments.length && pattern.every((part, at) => part.startsWith(':') || part === segments[at])
      );
    });
    return [...new Set(found.flatMap(([, methods]) => [...methods]))];
  }
}
