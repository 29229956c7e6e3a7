/* A plugin of qemu 7 or newer that prints how many instructions of the emulated processor a program
 * has executed. The declarations are those of qemu's plugin API, version 1
 * (docs/devel/tcg-plugins.rst), whose header Debian does not package. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

struct qemu_plugin_tb;
enum { QEMU_PLUGIN_INLINE_ADD_U64 };
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
                                                  void (*cb)(uint64_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *at,
                                                     uint64_t value);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern void qemu_plugin_register_atexit_cb(uint64_t id, void (*cb)(uint64_t, void *), void *user);
extern void qemu_plugin_outs(const char *text);

int qemu_plugin_version = 1;
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

static uint64_t executed; /* by one thread: additions are not atomic */

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &executed,
                                             qemu_plugin_tb_n_insns(block));
}

static void at_exit(uint64_t id, void *user)
{
    char text[32];
    (void)id;
    (void)user;
    snprintf(text, sizeof text, "%" PRIu64 "\n", executed);
    qemu_plugin_outs(text);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
