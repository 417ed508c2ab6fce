/** What we use of undici, by name: a bundler that knows a CommonJS package only as a whole finds these. */
export { Agent, ProxyAgent, request } from 'undici';
