// Loads the program. Apart from bin/agtmux because an old Node cannot even parse `import()`.
'use strict';

import('../dist/main.js');
