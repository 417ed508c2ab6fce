import type { LastResponse } from '../../core/doctor/lastresponse.ts';
import type { Context } from '../context.ts';

/** The context with a network whose last answer is kept: refusals carry headers worth reading too. */
export function listening(context: Context): {
  readonly context: Context;
  readonly heard: () => LastResponse | undefined;
} {
  let last: LastResponse | undefined;
  const openNetwork: Context['openNetwork'] = (options) => {
    const network = context.openNetwork(options);
    return {
      ...network,
      send: async (request) => {
        const response = await network.send(request);
        last = { headers: { ...last?.headers, ...response.headers }, at: context.clock.now() };
        return response;
      },
    };
  };
  return { context: { ...context, openNetwork }, heard: () => last };
}
