import type { FastifyInstance } from 'fastify';

/** Every route of a running app as `METHOD /path/:parameter`, read from what the framework prints of its own tree. */
export function routesOf(app: FastifyInstance): string[] {
  const above: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const found = /^([│├└─ ]*)(\/\S*) \(([A-Z, ]+)\)$/.exec(line);
      if (found === null) {
        if (line.trim() !== '') throw new Error(`This line of the route tree is not understood: ${line}`);
        return [];
      }
      const [, indent = '', segment = '', methods = ''] = found;
      const depth = indent.length / 4;
      above[depth] = segment;
      const path = above.slice(1, depth + 1).join('');
      return methods.split(', ').map((method) => `${method} ${path}`);
    });
}

/**
 * Who may ask what: the table that the matrix goes by, written from the specification and D3. `open`: nobody is asked
 * who they are; `signed`: the link is the key; `client`: the body holds a client's own credentials.
 */
export const ACCESS: Readonly<Record<string, 'model:read' | 'model:write' | 'practice:read' | Other>> = {
  'GET /healthz': 'open',
  'GET /readyz': 'open',
  'GET /metrics': 'open',
  'GET /openapi.json': 'open',
  'GET /docs': 'open',
  'POST /oauth/client_credential/accesstoken': 'client',
  'GET /files/:organization/documents/:document/:variant': 'signed',
  'GET /api/v1/stream': 'model:read',
  'GET /api/v1/documents': 'model:read',
  'GET /api/v1/documents/totalcount': 'model:read',
  'GET /api/v1/documents/:id': 'model:read',
  'POST /api/v1/documents': 'model:write',
  'PUT /api/v1/documents/:id': 'model:write',
  'DELETE /api/v1/documents/:id': 'model:write',
  'GET /api/v1/patients': 'model:read',
  'GET /api/v1/patients/totalcount': 'model:read',
  'GET /api/v1/patients/calculated': 'model:read',
  'GET /api/v1/patients/async': 'model:read',
  'GET /api/v1/patients/:id': 'model:read',
  'GET /api/v1/patients/:id/billingtypes': 'model:read',
  'POST /api/v1/patients': 'model:write',
  'POST /api/v1/patients/:id/billingtypes': 'model:write',
  'PUT /api/v1/patients/:id': 'model:write',
  'GET /api/v1/transactiontags': 'model:read',
  'GET /api/v1/transactiontags/:id': 'model:read',
  'POST /api/v1/transactiontags': 'model:write',
  'PUT /api/v1/transactiontags/:id': 'model:write',
  'DELETE /api/v1/transactiontags/:id': 'model:write',
  'GET /api/v1/transactions': 'model:read',
  'GET /api/v1/transactions/totalcount': 'model:read',
  'GET /api/v1/transactions/:id': 'model:read',
  'GET /api/v1/appointmenthistories': 'model:read',
  'GET /api/v1/appointmenthistories/totalcount': 'model:read',
  'GET /api/v1/appointmenthistories/:id': 'model:read',
  'GET /api/v1/locationproductionnetschedule': 'practice:read',
  'GET /api/v1/locationproductionnetschedule/async': 'model:read',
  'GET /api/v1/agingbalances/report': 'model:read',
  'GET /api/v1/missedappointments': 'model:read',
  'GET /api/v1/missedappointments/:id': 'model:read',
  'PUT /api/v1/missedappointments/:id': 'model:write',
  'DELETE /api/v1/missedappointments/:id': 'model:write',
  'GET /api/v1/scheduleopenings': 'model:read',
  'GET /api/v1/scheduletemplatereasons': 'model:read',
  'GET /api/v1/patientinsuranceplans': 'model:read',
  'GET /api/v1/patientinsuranceplans/totalcount': 'model:read',
  'GET /api/v1/patientinsuranceplans/:id': 'model:read',
  'GET /api/v1/events': 'model:read',
  'GET /api/v1/events/totalcount': 'model:read',
  'GET /api/v1/events/async': 'model:read',
  'GET /api/v1/events/:id': 'model:read',
  'POST /api/v1/events': 'model:write',
  'PUT /api/v1/events/:id': 'model:write',
  'DELETE /api/v1/events/:id': 'model:write',
  'GET /api/v1/appointments': 'model:read',
  'GET /api/v1/appointments/async': 'model:read',
  'GET /api/v1/appointments/:id': 'model:read',
  'POST /api/v1/appointments': 'model:write',
  'PUT /api/v1/appointments/:id': 'model:write',
  'DELETE /api/v1/appointments/:id': 'model:write',
  'GET /api/v1/imageattachments/async': 'model:read',
};

type Other = 'open' | 'signed' | 'client';
