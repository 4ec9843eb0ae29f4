#include "ir/agree.h"
void ir_agree_pair(ir_kernel *k, const ir_pipe *p, const ir_role *putter, const ir_role *getter){(void)k;(void)p;(void)putter;(void)getter;}
bool ir_game(ir_kernel *k){(void)k;return true;}
