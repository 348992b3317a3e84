"""A GAN in Programs of 1.5: two optimizers over parts of the parameters, Programs cloned in between."""

import numpy as np
import paddle.fluid as fluid

NOISE, BATCH = 8, 32


def G(z, name="G"):
    hidden = fluid.layers.fc(
        z,
        32,
        act="relu",
        param_attr=fluid.ParamAttr(name=name + ".w_0"),
        bias_attr=fluid.ParamAttr(name=name + ".b_0"),
    )
    return fluid.layers.fc(
        hidden,
        2,
        param_attr=fluid.ParamAttr(name=name + ".w_1"),
        bias_attr=fluid.ParamAttr(name=name + ".b_1"),
    )


def D(x, name="D"):
    hidden = fluid.layers.fc(
        x,
        32,
        act="leaky_relu",
        param_attr=fluid.ParamAttr(name=name + ".w_0"),
        bias_attr=fluid.ParamAttr(name=name + ".b_0"),
    )
    return fluid.layers.fc(
        hidden,
        1,
        param_attr=fluid.ParamAttr(name=name + ".w_1"),
        bias_attr=fluid.ParamAttr(name=name + ".b_1"),
    )


def loss(logit, label):
    return fluid.layers.mean(fluid.layers.sigmoid_cross_entropy_with_logits(x=logit, label=label))


def params(program, prefix):
    return [p.name for p in program.global_block().all_parameters() if p.name.startswith(prefix)]


def main():
    d_program, dg_program, startup = fluid.Program(), fluid.Program(), fluid.Program()
    startup.random_seed = 7
    with fluid.program_guard(d_program, startup):
        img = fluid.layers.data(name="img", shape=[2], dtype="float32")
        label = fluid.layers.data(name="label", shape=[1], dtype="float32")
        d_loss = loss(D(img), label)
        d_loss.persistable = True
    with fluid.program_guard(dg_program, startup):
        noise = fluid.layers.data(name="noise", shape=[NOISE], dtype="float32")
        g_img = G(noise)
        g_program = dg_program.clone()
        g_program_test = dg_program.clone(for_test=True)
        ones = fluid.layers.fill_constant_batch_size_like(noise, dtype="float32", shape=[-1, 1], value=1.0)
        dg_loss = loss(D(g_img), ones)
    opt = fluid.optimizer.Adam(learning_rate=2e-3, beta1=0.5)
    with fluid.program_guard(d_program, startup):
        opt.minimize(loss=d_loss, parameter_list=params(d_program, "D"))
    opt2 = fluid.optimizer.Adam(learning_rate=2e-3, beta1=0.5)
    with fluid.program_guard(dg_program, startup):
        opt2.minimize(loss=dg_loss, startup_program=startup, parameter_list=params(dg_program, "G"))

    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(startup)
    rng = np.random.RandomState(0)
    before = fluid.global_scope().find_var("D.w_0").get_tensor()
    before = np.array(before)
    for step in range(300):
        real = rng.normal([2.0, -1.0], 0.1, (BATCH, 2)).astype("float32")
        z = rng.uniform(-1, 1, (BATCH, NOISE)).astype("float32")
        fake = exe.run(g_program, feed={"noise": z}, fetch_list=[g_img])[0]
        d1 = exe.run(
            d_program, feed={"img": real, "label": np.full((BATCH, 1), 0.9, "float32")}, fetch_list=[d_loss]
        )[0][0]
        d2 = exe.run(
            d_program, feed={"img": fake, "label": np.zeros((BATCH, 1), "float32")}, fetch_list=[d_loss]
        )[0][0]
        g = exe.run(dg_program, feed={"noise": z}, fetch_list=[dg_loss])[0][0]
        if step % 100 == 0:
            print("Step:%d D Loss: %.4f G Loss: %.4f" % (step, d1 + d2, g))
    made = exe.run(
        g_program_test, feed={"noise": rng.uniform(-1, 1, (256, NOISE)).astype("float32")}, fetch_list=[g_img]
    )[0]
    print("mean", made.mean(0).round(1))
    assert np.abs(made.mean(0) - [2.0, -1.0]).max() < 1.3, made.mean(0)
    assert not np.array_equal(before, np.array(fluid.global_scope().find_var("D.w_0").get_tensor()))
    fluid.io.save_persistables(exe, "gan", dg_program)
    fluid.io.load_persistables(exe, "gan", dg_program)
    print("saved", len(params(dg_program, "G")))


if __name__ == "__main__":
    main()
