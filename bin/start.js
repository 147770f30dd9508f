// Loads the program. Apart from bin/agtmux because an old Node cannot even parse `import()`.
'use strict';

const words = process.argv.slice(2);
const isList = words[0] === 'list' || words[0] === 'ls';
const listed = isList ? require('../dist/list.cjs').listQuickly(words) : Promise.resolve(false);
listed.then((isDone) => (isDone ? undefined : import('../dist/main.js')));
