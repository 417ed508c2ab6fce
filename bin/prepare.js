// The name that people and scripts know: in this folder .js is CommonJS, since bin/run.js starts sooner as that.
import('./prepare.mjs');
