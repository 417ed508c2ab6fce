// The main program of the single executable: runs lib/bin/run.js, which lies beside it, with the Node that it is.
'use strict';
const { realpathSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join, resolve, sep } = require('node:path');

const lib = join(dirname(dirname(realpathSync(process.execPath))), 'lib');
const program = join(lib, 'bin', 'run.js');
const [executable, , ...words] = process.argv;
// molar starts processes of its own as `process.execPath FILE …`, as one does with Node; no command has such a name.
const isOwnFile = words[0]?.startsWith(lib + sep) && words[0].endsWith('.js') && resolve(words[0]) === words[0];
process.argv = isOwnFile ? [executable, ...words] : [executable, program, ...words];
// The `require` of a single executable knows only what is part of Node.
createRequire(program)(process.argv[1]);
